import type { ComponentChildren } from "preact"

export interface Column<Row> {
  id: string
  label: string
  /** Numbers stand at the right. */
  number?: boolean
  cell(row: Row): ComponentChildren
  /** Its name in the `sort` of the list, where it can be sorted by. */
  sort?: string
}

interface DataTableProps<Row> {
  /** What the rows are, for assistive technology. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string | number
  /** `name` or `-name`. */
  sort?: string
  onSort?(sort: string): void
}

/** Rows with heads that stay in sight. The first column names the row. */
export function DataTable<Row>({ caption, columns, rows, keyOf, sort, onSort }: DataTableProps<Row>) {
  return (
    <div class="table-wrap" tabIndex={0} role="region" aria-label={caption}>
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.id} scope="row">
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.id} class={column.number ? "number" : undefined}>
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
    <th scope="col" class={column.number ? "number" : undefined} aria-sort={direction}>
      {by !== undefined && onSort ? (
        <button type="button" onClick={() => onSort(direction === "descending" ? by : `-${by}`)}>
          {column.label}
          {direction && <span aria-hidden="true">{direction === "descending" ? " ↓" : " ↑"}</span>}
        </button>
      ) : (
        column.label
      )}
    </th>
  )
}
