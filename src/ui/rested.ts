import { useEffect, useState } from "preact/hooks"

/** A value as it was when it last stood still for `ms`; the first one at once. A question for every key would be overtaken by the next. */
export function useRested<Value>(value: Value, ms: number): Value {
  const [rested, setRested] = useState(() => value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return rested
}
