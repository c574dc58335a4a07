import { useEffect, useRef, useState } from "preact/hooks"

/** Returns the text for a live region, changed at most once per interval, always to the latest value. */
export function useAnnouncement(text: string, everyMs = 15_000): string {
  const [announced, setAnnounced] = useState("")
  const last = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (text === announced) return
    const timer = setTimeout(
      () => {
        last.current = performance.now()
        setAnnounced(text)
      },
      Math.max(0, last.current + everyMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [text, announced, everyMs])
  return announced
}
