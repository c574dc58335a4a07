import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { type Dimension, FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { Operator } from "../../../domain/filter.ts"
import type { SegmentResponse } from "../../../domain/segment.ts"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { Problem, post, remove } from "../../api/api.ts"
import { canOnSite, useMe } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { SelectField } from "../../parts/form/fields.tsx"
import { toast } from "../../parts/toasts.tsx"
import { dimensionLabel, operatorText } from "../../text/labels.ts"
import { visible } from "../../text/safe-text.tsx"
import { useStatsSource } from "../data/reports.ts"
import { addressFilters, isExact, operatorsOf, segmentsPath, useFilterTexts, useRefreshSegments, useSegments } from "./filters.ts"
import { PropertyKeyField } from "./suggestion-fields.tsx"
import { ValuePicker } from "./value-picker.tsx"

interface FilterDialogProps {
  index: number | undefined
  onClose(): void
}

/** Maximum number of filters in a URL. */
const MAX_FILTERS = 10

/** Dialog that adds or edits one filter of the page. */
export default function FilterDialog({ index, onClose }: FilterDialogProps) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  return (
    <FilterEditor
      filters={address.filters}
      index={index}
      onFilters={(filters) => {
        go({ filters })
        onClose()
      }}
      onClose={onClose}
    >
      {siteId !== undefined && index === undefined && <SavedSegments siteId={siteId} onClose={onClose} />}
    </FilterEditor>
  )
}

interface FilterEditorProps extends FilterDialogProps {
  filters: readonly AddressFilter[]
  onFilters(filters: AddressFilter[]): void
  /** Content below the form. */
  children?: ComponentChildren
}

/** Dialog for one of several filters: dimension, condition and values. Without an index it adds a filter. */
export function FilterEditor({ filters, index, onFilters, onClose, children }: FilterEditorProps) {
  const { filterDimensions: dimensions = FLAT_DIMENSIONS } = useStatsSource()
  const before = index === undefined ? undefined : filters[index]
  const [dimension, setDimension] = useState<Dimension>(before?.dimension ?? (dimensions.includes("page") ? "page" : dimensions[0]!))
  const [property, setProperty] = useState(before?.property ?? "")
  const [operator, setOperator] = useState<Operator>(before?.operator ?? "is")
  const [values, setValues] = useState<readonly string[]>(before?.values ?? [])
  const others = filters.filter((_, place) => place !== index)
  const isFull = before === undefined && others.length >= MAX_FILTERS
  const isWhole = values.length > 0 && (dimension !== "property" || property !== "") && !isFull
  const chooseDimension = (next: Dimension) => {
    setDimension(next)
    setValues([])
    if (!operatorsOf(next).includes(operator)) setOperator("is")
  }
  return (
    <Dialog title={before ? "Edit filter" : "Add filter"} onClose={onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          // The form may be inside the form of what the filters belong to.
          event.stopPropagation()
          if (!isWhole) return
          const filter = { dimension, ...(dimension === "property" && { property }), operator, values: [...values] }
          onFilters(before ? filters.map((one, place) => (place === index ? filter : one)) : [...others, filter])
        }}
      >
        {isFull && (
          <p class="notice" data-kind="warn">
            A page can have at most {MAX_FILTERS} filters. Change or remove one.
          </p>
        )}
        <div class="pair">
          <SelectField
            label="Filter by"
            value={dimension}
            onValue={(next) => chooseDimension(next as Dimension)}
            options={dimensions.map((value) => ({ value, label: dimensionLabel(value) }))}
            autofocus
          />
          <SelectField
            label="Condition"
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
          {before && <Button onClick={() => onFilters(others)}>Remove</Button>}
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isWhole}>
            Apply
          </Button>
        </div>
      </form>
      {children}
    </Dialog>
  )
}

/** List of saved segments. Users can delete their own; shared ones need the permission `segments:write`. */
function SavedSegments({ siteId, onClose }: { siteId: number; onClose(): void }) {
  const { go } = useSiteAddress()
  const me = useMe()
  const { data: segments = [] } = useSegments(siteId)
  const { drop, used, setUsed } = useRemoval(siteId)
  if (segments.length === 0) return null
  const mayDelete = ({ scope, owner }: SegmentResponse) =>
    scope === "personal" ? owner === me?.user.id : canOnSite(me, siteId, "segments:write")
  return (
    <section class="stack saved" aria-labelledby="saved-segments">
      <h3 id="saved-segments">Saved segments</h3>
      <ul>
        {segments.map((segment) => (
          <li key={segment.id} class="row spread">
            <SegmentButton
              segment={segment}
              onChoose={() => {
                go({ segment: segment.id })
                onClose()
              }}
            />
            <span class="row">
              <span class="small quiet">{segment.scope === "personal" ? "Only me" : "Shared"}</span>
              {mayDelete(segment) && (
                <IconButton icon="trash" label={`Delete segment ${visible(segment.name)}`} onClick={() => void drop(segment)} />
              )}
            </span>
          </li>
        ))}
      </ul>
      {used && (
        <Confirm title="Delete segment in use" act="Delete segment" onConfirm={() => drop(used, true)} onClose={() => setUsed(undefined)}>
          <p>{visible(used.name)} is still used elsewhere, for example in a shared view. Those uses will stop working.</p>
          <Button onClick={() => setUsed(undefined)}>Keep segment</Button>
        </Confirm>
      )}
    </section>
  )
}

function SegmentButton({ segment, onChoose }: { segment: SegmentResponse; onChoose(): void }) {
  const texts = useFilterTexts(addressFilters(segment.filters))
  return (
    <button type="button" class="text-button" title={texts.join(", ")} onClick={onChoose}>
      {visible(segment.name)}
    </button>
  )
}

/** Deletes a segment at once and offers *Undo*. Asks for confirmation if the segment is in use. */
function useRemoval(siteId: number) {
  const refresh = useRefreshSegments(siteId)
  const [used, setUsed] = useState<SegmentResponse>()
  const drop = async (segment: SegmentResponse, force = false) => {
    const { name, scope, filters } = segment
    try {
      await remove(`${segmentsPath(siteId)}/${segment.id}${force ? "?force=true" : ""}`)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.code === "segment_in_use") setUsed(segment)
      else toast(error.message)
      return
    }
    await refresh()
    toast(`Segment ${visible(name)} deleted`, () => void post(segmentsPath(siteId), { name, scope, filters }).then(refresh))
  }
  return { drop, used, setUsed }
}
