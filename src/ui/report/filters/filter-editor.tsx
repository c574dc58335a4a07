import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { type Dimension, FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { Operator } from "../../../domain/filter.ts"
import { type AddressFilter, MAX_FILTERS } from "../../../domain/site-address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { SelectField } from "../../parts/form/fields.tsx"
import { dimensionLabel, operatorText } from "../../text/labels.ts"
import { useStatsSource } from "../data/reports.ts"
import { filterText, isExact, operatorsOf, useFilterTexts } from "./filters.ts"
import { PropertyKeyField } from "./suggestion-fields.tsx"
import { ValuePicker } from "./value-picker.tsx"

/** Whether all filters of a list must match, or one of them. */
export type Join = "all" | "any"

interface FilterEditorProps {
  filters: readonly AddressFilter[]
  /** Number of other filters of the page. */
  more?: number
  join?: Join
  /** Offers the choice between the two. */
  onJoin?(join: Join): void
  /** Index of the edited filter; undefined adds one. */
  index: number | undefined
  onFilters(filters: AddressFilter[]): void
  /** Renders how much the filters match. */
  countOf?(filters: AddressFilter[]): ComponentChildren
  onClose(): void
  /** Content below the form. */
  children?: ComponentChildren
}

/** Dialog for a list of filters: one is in the form, the others are listed above it. Without an index the form adds one. */
export function FilterEditor({ filters, more = 0, join = "all", onJoin, index, ...props }: FilterEditorProps) {
  const { onFilters, onClose, countOf, children } = props
  const { filterDimensions: dimensions = FLAT_DIMENSIONS } = useStatsSource()
  const empty: AddressFilter = { dimension: dimensions.includes("page") ? "page" : dimensions[0]!, operator: "is", values: [] }
  const [list, setList] = useState<readonly AddressFilter[]>(filters)
  // The place in the list of the filter in the form. A new one is placed at the end.
  const [place, setPlace] = useState(index ?? filters.length)
  const [draft, setDraft] = useState<AddressFilter>(filters[index ?? filters.length] ?? empty)
  const texts = useFilterTexts(list)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>("[role=combobox]")?.focus(), [place])
  const set = (changes: Partial<AddressFilter>) => setDraft({ ...draft, ...changes })
  const { dimension, property = "", operator, values } = draft
  const isWhole = values.length > 0 && (dimension !== "property" || property !== "")
  const others = list.filter((_, at) => at !== place)
  const all = isWhole ? [...list.slice(0, place), withoutUnused(draft), ...list.slice(place + 1)] : others
  const isFull = all.length + more >= MAX_FILTERS
  const open = (at: number, from: readonly AddressFilter[]) => {
    setList(from)
    setPlace(at)
    setDraft(from[at] ?? empty)
  }
  return (
    <Dialog title={index === undefined ? "Add filter" : "Edit filter"} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          // The form may be inside the form of what the filters belong to.
          event.stopPropagation()
          onFilters([...all])
        }}
      >
        {onJoin && others.length > 0 && (
          <SelectField
            label="Visits must match"
            value={join}
            onValue={(next) => onJoin(next as Join)}
            options={[
              { value: "all", label: "All filters" },
              { value: "any", label: "Any filter" },
            ]}
          />
        )}
        {others.length > 0 && (
          <div class="row" role="group" aria-label="Other filters">
            {list.map(
              (filter, at) =>
                at !== place && (
                  <span class="pill" key={filterText(filter)}>
                    <button type="button" title={`Edit: ${texts[at]}`} onClick={() => open(isWhole || at < place ? at : at - 1, all)}>
                      {texts[at]}
                    </button>
                    <IconButton
                      icon="close"
                      label={`Remove ${texts[at]}`}
                      onClick={() => {
                        setList(list.filter((one) => one !== filter))
                        if (at < place) setPlace(place - 1)
                      }}
                    />
                  </span>
                ),
            )}
          </div>
        )}
        <div class="pair">
          <SelectField
            label="Filter by"
            value={dimension}
            onValue={(next) =>
              setDraft({
                dimension: next as Dimension,
                operator: operatorsOf(next as Dimension).includes(operator) ? operator : "is",
                values: [],
              })
            }
            options={dimensions.map((value) => ({ value, label: dimensionLabel(value) }))}
          />
          <SelectField
            label="Condition"
            value={operator}
            onValue={(next) => set({ operator: next as Operator, values: isExact(next as Operator) === isExact(operator) ? values : [] })}
            options={operatorsOf(dimension).map((value) => ({ value, label: operatorText(value) }))}
          />
        </div>
        {dimension === "property" && <PropertyKeyField value={property} onValue={(key) => set({ property: key })} />}
        <ValuePicker
          key={`${place} ${dimension} ${property}`}
          dimension={dimension}
          property={property}
          operator={operator}
          others={join === "any" ? [] : others}
          values={values}
          onValues={(next) => set({ values: [...next] })}
        />
        <div class="row spread">
          <Button kind="quiet" icon="plus" disabled={!isWhole || isFull} onClick={() => open(all.length, all)}>
            Add another filter
          </Button>
          {isFull && <span class="small quiet">A page can have at most {MAX_FILTERS} filters.</span>}
          {all.length > 0 && countOf?.([...all])}
        </div>
        <div class="dialog-foot">
          {index !== undefined && <Button onClick={() => onFilters([...others])}>Remove</Button>}
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={all.length === 0 && filters.length === 0}>
            Apply
          </Button>
        </div>
      </form>
      {children}
    </Dialog>
  )
}

/** Removes the key of a property from a filter on another dimension. */
const withoutUnused = ({ property, ...filter }: AddressFilter): AddressFilter =>
  filter.dimension === "property" && property !== undefined ? { ...filter, property } : filter
