/** What tables have on phones in addition: an order, and the texts of columns that phones leave out. */
import { visible } from "../text/safe-text.tsx"
import type { Column } from "./data-table.tsx"
import { SelectField } from "./form/fields.tsx"

interface SortFieldProps<Row> {
  columns: readonly Column<Row>[]
  /** Current order, as in the table. */
  sort: string
  onSort(sort: string): void
}

/** Order of a table on phones, where stacked rows have no heads to press. */
export const SortField = <Row,>({ columns, sort, onSort }: SortFieldProps<Row>) => (
  <div class="sort-field narrow-only">
    <SelectField
      label="Sort by"
      value={sort.replace("-", "")}
      options={columns.flatMap((column) => (column.sort ? [{ value: column.sort, label: column.label }] : []))}
      onValue={(by) => onSort(`-${by}`)}
    />
  </div>
)

/** The text of a column that phones leave out, below that of another one. */
export const SecondLine = ({ text }: { text: string }) =>
  text !== "" && <span class="second-line small quiet narrow-only">{visible(text)}</span>
