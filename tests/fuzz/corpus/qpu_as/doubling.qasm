.macro m, x
.if x
m x - 1
m x - 1
.endif
.endm
m 40
