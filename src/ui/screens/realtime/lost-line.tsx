import { useEffect, useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"

/** Says that the live connection is lost and counts down to the next attempt. The countdown is hidden from assistive technology. */
export function LostLine({ retryAt, onRetry }: { retryAt: number; onRetry(): void }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="notice" data-kind="warn">
      <span role="status">Live connection lost. Figures are updated every 15 seconds until it is restored.</span>
      <span class="quiet small" aria-hidden="true">
        Retrying in {Math.max(0, Math.ceil((retryAt - now) / 1_000))} s
      </span>
      <Button onClick={onRetry}>Retry now</Button>
    </div>
  )
}
