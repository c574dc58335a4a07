import { useEffect, useState } from "preact/hooks"

/** Seconds between two announcements of the live region. */
const SPOKEN_EVERY = 15

/** Counts down `Try again in 40 s.` and announces it at most every 15 seconds. */
export function Countdown({ seconds, onEnd }: { seconds: number; onEnd(): void }) {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    const end = performance.now() + seconds * 1_000
    const timer = setInterval(() => {
      const now = Math.max(0, Math.ceil((end - performance.now()) / 1_000))
      setLeft(now)
      if (now === 0) onEnd()
    }, 250)
    return () => clearInterval(timer)
  }, [seconds])
  return (
    <>
      <span aria-hidden="true">Try again in {waitText(left)}.</span>
      <span class="visually-hidden" aria-live="polite">
        Try again in {waitText(Math.ceil(left / SPOKEN_EVERY) * SPOKEN_EVERY)}.
      </span>
    </>
  )
}

/** Formats a waiting time; two minutes and more are given in minutes. */
export const waitText = (seconds: number): string => (seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`)
