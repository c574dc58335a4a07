import { RankedList } from "./cards/ranked-list.tsx"

interface CountRowsProps {
  /** Header of the first column. */
  title: string
  /** Dimension of the values, for their icons. */
  dimension?: string
  /** Column headers by the name of the number in a row. The first column is also drawn as a bar. */
  counts: Readonly<Record<string, string>>
  rows: readonly ({ value: string; label?: string } & Record<string, unknown>)[]
}

/** List of values with their counts. The bar behind the text repeats the first count. */
export function CountRows({ title, dimension, counts, rows }: CountRowsProps) {
  const named = rows.map(({ value, label, ...numbers }) => ({
    value,
    ...(label !== undefined && { label }),
    ...Object.fromEntries(Object.entries(counts).map(([name, head]) => [head, numbers[name]])),
  }))
  return (
    <RankedList
      title={title}
      {...(dimension !== undefined && { dimension })}
      metrics={Object.values(counts)}
      rows={named}
      isChosen={() => false}
      addressOf={undefined}
    />
  )
}
