import type { ComponentChildren } from "preact"
import type { useRows } from "../api/plugin-requests.ts"
import { Button } from "./button.tsx"
import { EmptyState, ErrorState, Skeleton } from "./states.tsx"

export interface Column<Row> {
  id: string
  label: string
  /** Whether the column is aligned to the right, as numbers are. */
  number?: boolean
  cell(row: Row): ComponentChildren
  /** Name of the column in the `sort` parameter, if it is sortable. */
  sort?: string
  /** Whether phones leave the column out, because another one has its facts there. */
  wideOnly?: boolean
}

/** Label of the column with the buttons of a row. Only assistive technology has it, because the buttons say what they do. */
export const ACTIONS = "Actions"

interface DataTableProps<Row> {
  /** Accessible name of the table. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string | number
  /** Current order: `name` ascending, `-name` descending. */
  sort?: string
  onSort?(sort: string): void
  /** Whether the cells of a row stand below each other on a phone, with their labels, instead of scrolling sideways. */
  stacks?: boolean
}

/** Table with sticky headers. The first column contains the row headers. */
export function DataTable<Row>({ caption, columns, rows, keyOf, sort, onSort, stacks = false }: DataTableProps<Row>) {
  // A table that is displayed as blocks would lose its roles.
  const role = (name: "table" | "rowgroup" | "row" | "rowheader" | "cell") => (stacks ? { role: name } : {})
  return (
    <div class="table-wrap" tabIndex={0} role="region" aria-label={caption}>
      <table class="table" data-stacks={stacks || undefined} {...role("table")}>
        <caption class="visually-hidden">{caption}</caption>
        <thead {...role("rowgroup")}>
          <tr {...role("row")}>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody {...role("rowgroup")}>
          {rows.map((row) => (
            <tr key={keyOf(row)} {...role("row")}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.id} scope="row" {...role("rowheader")}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td
                    key={column.id}
                    class={classOf(column)}
                    data-label={column.label === ACTIONS ? undefined : column.label}
                    {...role("cell")}
                  >
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const classOf = <Row,>({ number, wideOnly }: Column<Row>): string | undefined =>
  [number && "number", wideOnly && "wide-only"].filter(Boolean).join(" ") || undefined

function Head<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>
  sort: string | undefined
  onSort: ((sort: string) => void) | undefined
}) {
  const by = column.sort
  const isBy = by !== undefined && (sort === by || sort === `-${by}`)
  const direction = isBy ? (sort === by ? "ascending" : "descending") : undefined
  return (
    <th scope="col" class={classOf(column)} aria-sort={direction}>
      {by !== undefined && onSort ? (
        <button type="button" onClick={() => onSort(direction === "descending" ? by : `-${by}`)}>
          {column.label}
          {direction && <span aria-hidden="true">{direction === "descending" ? " ↓" : " ↑"}</span>}
        </button>
      ) : column.label === ACTIONS ? (
        <span class="visually-hidden">{ACTIONS}</span>
      ) : (
        column.label
      )}
    </th>
  )
}

interface PagedTableProps<Row> {
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
  stacks?: boolean
}

/** A paged list in its states: loading, failed, empty, loaded with a button for more rows. */
export function PagedTable<Row>({ of, empty, step, ...table }: PagedTableProps<Row>) {
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
