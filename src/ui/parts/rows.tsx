import type { ComponentChildren } from "preact"
import type { useRows } from "../lists.ts"
import { Button } from "./button.tsx"
import { type Column, DataTable } from "./data-table.tsx"
import { EmptyState, ErrorState, Skeleton } from "./states.tsx"

interface RowsProps<Row> {
  of: ReturnType<typeof useRows<Row>>
  caption: string
  columns: readonly Column<Row>[]
  keyOf(row: Row): string | number
  /** Why there may be none. */
  empty: ComponentChildren
  /** One step on from there. */
  step?: ComponentChildren
  sort?: string
  onSort?(sort: string): void
}

/** A list in its states: waiting, failed, empty, shown, and more of it where there is more. */
export function Rows<Row>({ of, empty, step, ...table }: RowsProps<Row>) {
  const { rows, error, hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage, refetch } = of
  if (!rows) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton rows={6} />
  if (rows.length === 0) return <EmptyState action={step}>{empty}</EmptyState>
  return (
    <div class="card-body" aria-busy={isPlaceholderData}>
      <DataTable {...table} rows={rows} />
      {hasNextPage && (
        <div class="pager">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </div>
  )
}
