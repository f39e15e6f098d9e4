package bounded

import (
	"reflect"
	"time"
)

// Size is about how much memory a value takes with all that it leads to, in bytes.
// It must not lead back to itself.
func Size(value any) int64 {
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		return 0
	}
	return int64(v.Type().Size()) + beyond(v)
}

// beyond is the memory that a value leads to.
func beyond(v reflect.Value) int64 {
	const slot = 16 // of a map, beside key and value
	var sum int64
	switch v.Kind() {
	case reflect.String:
		sum = int64(v.Len())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			sum = int64(v.Elem().Type().Size()) + beyond(v.Elem())
		}
	case reflect.Slice:
		sum = int64(v.Len()) * int64(v.Type().Elem().Size())
		for i := range v.Len() {
			sum += beyond(v.Index(i))
		}
	case reflect.Map:
		sum = int64(v.Len()) * (slot + int64(v.Type().Key().Size()) + int64(v.Type().Elem().Size()))
		for each := v.MapRange(); each.Next(); {
			sum += beyond(each.Key()) + beyond(each.Value())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() { // its zone is everybody's
			return 0
		}
		for i := range v.NumField() {
			sum += beyond(v.Field(i))
		}
	default: // nothing beyond the value itself
	}
	return sum
}
