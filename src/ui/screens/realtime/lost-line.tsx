import { useEffect, useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"

/** The line to the server is lost: until when it rests, counting down without a word to assistive technology. */
export function LostLine({ retryAt, onRetry }: { retryAt: number; onRetry(): void }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="notice" data-kind="warn">
      <span role="status">The live line is lost. Figures are asked for every 15 seconds until it is back.</span>
      <span class="quiet small" aria-hidden="true">
        Next try in {Math.max(0, Math.ceil((retryAt - now) / 1_000))} s
      </span>
      <Button onClick={onRetry}>Try now</Button>
    </div>
  )
}
