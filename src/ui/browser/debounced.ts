import { useEffect, useState } from "preact/hooks"

/** Returns a value once it has not changed for `ms` milliseconds; the first value at once. Avoids a query per key press. */
export function useDebouncedValue<Value>(value: Value, ms: number): Value {
  const [debounced, setDebounced] = useState(() => value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(() => value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return debounced
}
