package canon

// AppendNumber and CompareUTF16 let tests reach doubles and names that no
// strict document may hold.
var (
	AppendNumber = appendNumber
	CompareUTF16 = compareUTF16
)
