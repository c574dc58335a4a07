import type { UseQueryResult } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { ErrorState, Skeleton } from "./states.tsx"

interface AnswerProps<Data> {
  of: UseQueryResult<Data, Error>
  /** Rows of the room it takes from the start. */
  rows?: number
  children(data: Data): ComponentChildren
}

/** One question, three of its four states: waiting, failed, shown; what is empty is for `children` to say. An old answer stays, dimmed, while a new one is made. */
export function Answer<Data>({ of, rows = 9, children }: AnswerProps<Data>) {
  const { data, error, isPlaceholderData, isPending, refetch } = of
  return (
    <div class="card-body" data-rows={rows === 9 ? "9" : undefined} aria-busy={isPending || isPlaceholderData}>
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
