.macro m, x
.if x
m x - 1
.endif
.endm
m 9
:1 brr -, r:1f
:1
::g
:
.unset x
.long ~0 ** 2
