import type { ComponentChildren } from "preact"
import { Button, dimensionLabel, IconButton, SelectField, TextArea } from "#plugin/ui"
import type { FilterRule } from "../cohort.ts"
import { OPERATOR_LABELS, VISIT_DIMENSIONS, VISIT_OPERATORS } from "./labels.ts"

const DIMENSIONS = ["page", "hostname", ...VISIT_DIMENSIONS] as const
const MOST = 10

interface FilterRowsProps {
  of: readonly FilterRule[]
  onChange(filters: FilterRule[]): void
  /** Returns the error of a field below the filters. */
  errorOf(field: string): string | undefined
  /** Further buttons, beside the one that adds a filter. */
  children?: ComponentChildren
}

/** Filters on the event of a condition and its visit. */
export function FilterRows({ of: filters, onChange, errorOf, children }: FilterRowsProps) {
  const set = (index: number, changes: Partial<FilterRule>) => onChange(filters.with(index, { ...filters[index]!, ...changes }))
  return (
    <>
      {filters.map((filter, index) => (
        // Filters have no id, and only the last one is ever added.
        <div class="condition-fields" key={index}>
          <SelectField
            label="Where"
            value={filter.dimension}
            options={DIMENSIONS.map((name) => ({ value: name, label: dimensionLabel(name) }))}
            onValue={(dimension) => set(index, { dimension })}
            error={errorOf(`/${index}/dimension`)}
          />
          <SelectField
            label="Comparison"
            value={filter.operator ?? "is"}
            options={VISIT_OPERATORS.map((value) => ({ value, label: OPERATOR_LABELS[value] ?? value }))}
            onValue={(operator) => set(index, { operator })}
          />
          <TextArea
            label="Values, one per line"
            rows={1}
            value={filter.values.join("\n")}
            onValue={(text) => set(index, { values: text.split("\n") })}
            error={errorOf(`/${index}/values`) ?? errorOf(`/${index}/values/0`)}
          />
          <IconButton icon="trash" label={`Remove filter ${index + 1}`} onClick={() => onChange(filters.toSpliced(index, 1))} />
        </div>
      ))}
      <div class="row spread">
        {filters.length < MOST && (
          <Button kind="quiet" icon="filter" onClick={() => onChange([...filters, { dimension: "country", operator: "is", values: [] }])}>
            Add filter
          </Button>
        )}
        {children}
      </div>
    </>
  )
}
