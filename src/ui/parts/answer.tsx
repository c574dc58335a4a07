import type { UseQueryResult } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { ErrorState, Skeleton } from "./states.tsx"

interface AnswerProps<Data> {
  of: UseQueryResult<Data, Error>
  /** Number of rows for which space is reserved from the start. */
  rows?: number
  children(data: Data): ComponentChildren
}

/** The states of a query: loading, failed, loaded. `children` handles an empty answer. The previous answer stays, dimmed, while a new one loads. */
export function Answer<Data>({ of, rows = 9, children }: AnswerProps<Data>) {
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
