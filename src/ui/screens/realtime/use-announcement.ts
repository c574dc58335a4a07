import { useEffect, useRef, useState } from "preact/hooks"

/** A text for a live region, told at most once in so many milliseconds: the newest one when the time is over. */
export function useSpoken(text: string, everyMs = 15_000): string {
  const [spoken, setSpoken] = useState("")
  const last = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (text === spoken) return
    const timer = setTimeout(
      () => {
        last.current = performance.now()
        setSpoken(text)
      },
      Math.max(0, last.current + everyMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [text, spoken, everyMs])
  return spoken
}
