import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Problem } from "../api.ts"
import { Cancelled } from "../proof.ts"
import { Button } from "./button.tsx"

/** Nothing for the first moment, then lines of the size that the content will have; after some seconds a word. */
export function Skeleton({ rows = 9 }: { rows?: number }) {
  const waited = useWaited([150, 5_000])
  if (waited < 1) return null
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
      {waited > 1 && <p class="small quiet">Still counting. A shorter period is faster.</p>}
    </div>
  )
}

/** How many of these moments have passed since it was first shown; milliseconds. */
function useWaited(moments: readonly number[]): number {
  const [passed, setPassed] = useState(0)
  useEffect(() => {
    const timers = moments.map((moment, index) => setTimeout(() => setPassed(index + 1), moment))
    return () => timers.forEach(clearTimeout)
  }, [])
  return passed
}

/** What failed, in words, with the id under which the server's log has it. The words stay while it is tried again. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const [tried, setTried] = useState<Error>()
  const retry = () => {
    setTried(error)
    onRetry?.()
  }
  const requestId = error instanceof Problem ? error.members.request_id : undefined
  return (
    <div class="state" role="alert">
      <p>{sentenceOf(error)}</p>
      {requestId && <p class="small quiet">Request {requestId}</p>}
      {onRetry && (
        <Button aria-busy={tried === error} onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export function sentenceOf(error: Error): string {
  if (error instanceof Cancelled) return error.message
  if (!(error instanceof Problem)) return "Something in this page failed. Loading it again may help."
  if (error.code === "offline") return "The server cannot be reached. Try again when it can."
  if (error.code === "query_timeout") return "The report took too long. A shorter period or fewer filters are faster."
  return error.message
}

/** Why there is nothing, and one step on. */
export const EmptyState = ({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) => (
  <div class="state">
    <p class="quiet">{children}</p>
    {action}
  </div>
)

/** A page of its own for what cannot be shown: 404, 403. */
export const SystemPage = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <main class="narrow-page" id="main">
    <h1>{title}</h1>
    <div class="stack">{children}</div>
  </main>
)
