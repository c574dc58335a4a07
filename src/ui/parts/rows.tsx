import type { ComponentChildren } from "preact"
import type { useRows } from "../api/lists.ts"
import { Button } from "./button.tsx"
import { type Column, DataTable } from "./data-table.tsx"
import { EmptyState, ErrorState, Skeleton } from "./states.tsx"

interface RowsProps<Row> {
  of: ReturnType<typeof useRows<Row>>
  caption: string
  columns: readonly Column<Row>[]
  keyOf(row: Row): string | number
  /** Text of the empty state. */
  empty: ComponentChildren
  /** Action of the empty state. */
  step?: ComponentChildren
  sort?: string
  onSort?(sort: string): void
}

/** A paged list in its states: loading, failed, empty, loaded with a button for more rows. */
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
