import type { UseQueryResult } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Cancelled, Problem } from "../api/api.ts"
import { Button, ButtonLink } from "./button.tsx"

interface QueryResultProps<Data> {
  of: UseQueryResult<Data, Error>
  /** Number of rows for which space is reserved from the start. */
  rows?: number
  children(data: Data): ComponentChildren
}

/** The states of a query: loading, failed, loaded. `children` handles an empty answer. The previous answer stays, dimmed, while a new one loads. */
export function QueryResult<Data>({ of, rows = 9, children }: QueryResultProps<Data>) {
  const { data, error, isPlaceholderData, isPending, refetch } = of
  return (
    <div class="card-body" data-rows={rows} aria-busy={isPending || isPlaceholderData}>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton rows={rows} />
      ) : (
        children(data)
      )}
    </div>
  )
}

/**
 * Loading state: nothing for 150 ms, then placeholder lines of the content's size, the last of which becomes a hint after 5 s. A card that
 * is late, because what is below it is shown after 1 s, keeps the height that it has then, so that nothing moves when it is loaded.
 */
export function Skeleton({ rows = 9 }: { rows?: number }) {
  const waited = useWaited([150, 1_000, 5_000])
  if (waited < 1) return null
  const isLate = waited > 1 || undefined
  const keepHeight = (lines: HTMLElement | null) => {
    const body = isLate && lines?.closest<HTMLElement>(".card-body")
    if (body) body.style.minHeight = `${body.offsetHeight}px`
  }
  return (
    <div ref={keepHeight} class="skeleton" data-late={isLate} aria-hidden="true">
      {Array.from({ length: waited > 2 ? rows - 1 : rows }, (_, row) => (
        <span key={row} />
      ))}
      {waited > 2 && <p class="small quiet">Still loading. A shorter period loads faster.</p>}
    </div>
  )
}

/** Returns how many of these times, in milliseconds, have passed since the first render. */
function useWaited(moments: readonly number[]): number {
  const [passed, setPassed] = useState(0)
  useEffect(() => {
    const timers = moments.map((moment, index) => setTimeout(() => setPassed(index + 1), moment))
    return () => timers.forEach(clearTimeout)
  }, [])
  return passed
}

/** Error state with the message and the request id of the server's log. The message stays during a retry. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const [tried, setTried] = useState<Error>()
  const retry = () => {
    setTried(error)
    onRetry?.()
  }
  const requestId = error instanceof Problem ? error.members.request_id : undefined
  return (
    <div class="state" role="alert">
      <p>{errorText(error)}</p>
      {requestId && <p class="small quiet">Request {requestId}</p>}
      {onRetry && (
        <Button aria-busy={tried === error} onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export function errorText(error: Error): string {
  if (error instanceof Cancelled) return error.message
  if (!(error instanceof Problem)) return "Something went wrong on this page. Reload it and try again."
  if (error.code === "offline") return "Can't reach the server. Check your connection and try again."
  if (error.code === "query_timeout") return "The report took too long. Choose a shorter period or fewer filters."
  return error.message
}

/** Empty state: one sentence with the reason, and one action. */
export const EmptyState = ({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) => (
  <div class="state">
    <p class="quiet">{children}</p>
    {action}
  </div>
)

/** A full page for an error such as 404 or 403. */
export const SystemPage = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <main class="narrow-page" id="main">
    <h1>{title}</h1>
    <div class="stack">{children}</div>
  </main>
)

/** The 404 page. It is the same for pages that do not exist and pages that the user cannot see. */
export function NotFound() {
  useEffect(() => {
    document.title = "Not found · Footfall"
  }, [])
  return (
    <SystemPage title="Page not found">
      <p>It doesn't exist, or you don't have access.</p>
      <p>
        <ButtonLink href="/sites">All sites</ButtonLink>
      </p>
    </SystemPage>
  )
}

/** Shown when a script of the page can't be loaded: the server runs a newer build or can't be reached. */
export const NewVersion = () => (
  <SystemPage title="Reload this page">
    <p>A newer version of Footfall is running, or the server can't be reached.</p>
    <p>
      <Button kind="primary" onClick={() => location.reload()}>
        Reload page
      </Button>
    </p>
  </SystemPage>
)
