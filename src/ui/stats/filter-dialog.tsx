import { useState } from "preact/hooks"
import { type Dimension, FLAT_DIMENSIONS } from "../../domain/dimension.ts"
import type { Operator } from "../../domain/filter.ts"
import type { AddressFilter } from "../../domain/site-address.ts"
import { useSiteAddress } from "../address.ts"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { SelectField } from "../parts/fields.tsx"
import { dimensionLabel, operatorText } from "../words.ts"
import { isExact, operatorsOf } from "./filter-words.ts"
import { PropertyKeyField } from "./property-key-field.tsx"
import { SavedSegments } from "./saved-segments.tsx"
import { useStatsSource } from "./source.ts"
import { ValuePicker } from "./value-picker.tsx"

interface FilterDialogProps {
  index: number | undefined
  onClose(): void
}

/** How many filters an address holds. */
const MOST = 10

/** One filter: what is looked at, how it is compared, and with which values. */
export default function FilterDialog({ index, onClose }: FilterDialogProps) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const before = index === undefined ? undefined : address.filters[index]
  const [dimension, setDimension] = useState<Dimension>(before?.dimension ?? "page")
  const [property, setProperty] = useState(before?.property ?? "")
  const [operator, setOperator] = useState<Operator>(before?.operator ?? "is")
  const [values, setValues] = useState<readonly string[]>(before?.values ?? [])
  const others = address.filters.filter((_, place) => place !== index)
  const isFull = before === undefined && others.length >= MOST
  const isWhole = values.length > 0 && (dimension !== "property" || property !== "") && !isFull
  const show = (filters: AddressFilter[]) => {
    go({ filters })
    onClose()
  }
  const chooseDimension = (next: Dimension) => {
    setDimension(next)
    setValues([])
    if (!operatorsOf(next).includes(operator)) setOperator("is")
  }
  return (
    <Dialog title={before ? "Change filter" : "Filter"} onClose={onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isWhole) return
          const filter = { dimension, ...(dimension === "property" && { property }), operator, values: [...values] }
          show(before ? address.filters.map((one, place) => (place === index ? filter : one)) : [...others, filter])
        }}
      >
        {isFull && (
          <p class="notice" data-kind="warn">
            A page has at most {MOST} filters. Change one of them, or take one away.
          </p>
        )}
        <div class="pair">
          <SelectField
            label="What"
            value={dimension}
            onValue={(next) => chooseDimension(next as Dimension)}
            options={FLAT_DIMENSIONS.map((value) => ({ value, label: dimensionLabel(value) }))}
            autofocus
          />
          <SelectField
            label="How"
            value={operator}
            onValue={(next) => {
              if (isExact(next as Operator) !== isExact(operator)) setValues([])
              setOperator(next as Operator)
            }}
            options={operatorsOf(dimension).map((value) => ({ value, label: operatorText(value) }))}
          />
        </div>
        {dimension === "property" && <PropertyKeyField value={property} onValue={setProperty} />}
        <ValuePicker
          key={`${dimension} ${property}`}
          dimension={dimension}
          property={property}
          operator={operator}
          others={others}
          values={values}
          onValues={setValues}
        />
        <div class="dialog-foot">
          {before && <Button onClick={() => show(others)}>Remove</Button>}
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isWhole}>
            Apply
          </Button>
        </div>
      </form>
      {siteId !== undefined && !before && <SavedSegments siteId={siteId} onClose={onClose} />}
    </Dialog>
  )
}
