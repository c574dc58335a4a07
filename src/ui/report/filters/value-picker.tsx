import { useId, useState } from "preact/hooks"
import type { Dimension } from "../../../domain/dimension.ts"
import type { Operator } from "../../../domain/filter.ts"
import type { Suggestions } from "../../../domain/insight.ts"
import { type AddressFilter, rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { useDebouncedValue } from "../../browser/hooks.ts"
import { IconButton } from "../../parts/button.tsx"
import { ValueIcon } from "../../parts/value-icon.tsx"
import { short } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { valueText } from "../data/figures.ts"
import { useReport } from "../data/reports.ts"
import { isExact, useCodeNames } from "./filters.ts"

interface ValuePickerProps {
  dimension: Dimension
  property: string
  operator: Operator
  /** The other filters that must match. Values that they exclude are not suggested. */
  others: AddressFilter[]
  values: readonly string[]
  onValues(values: readonly string[]): void
}

/** Maximum number of values of one filter. */
const MAX_VALUES = 50
const WAIT_MS = 150
const ROWS = 20

/** Combobox for several values, picked from those of the period or typed. Enter adds a value, Backspace in the empty field removes the last one. */
export function ValuePicker({ dimension, property, operator, others, values, onValues }: ValuePickerProps) {
  const id = useId()
  const [typed, setTyped] = useState("")
  const [active, setActive] = useState(-1)
  const { rows, isPending } = useSuggestions({ dimension, property, others, typed })
  const names = useCodeNames([{ dimension, operator, values: [...values] }])
  const isExactly = isExact(operator)
  const isFull = values.length >= MAX_VALUES
  const toggle = (value: string) => {
    if (value === "") return
    onValues(values.includes(value) ? values.filter((one) => one !== value) : isFull ? values : [...values, value])
    setTyped("")
    setActive(-1)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      if (rows.length > 0) setActive((active + (event.key === "ArrowDown" ? 1 : rows.length + (active < 0 ? 0 : -1))) % rows.length)
    } else if (event.key === "Enter" && (active >= 0 || typed !== "")) {
      event.preventDefault()
      toggle(rows[active]?.value ?? typed)
    } else if (event.key === "Backspace" && typed === "" && values.length > 0) onValues(values.slice(0, -1))
  }
  return (
    <div class="field">
      <label for={id}>{isExactly ? "Value" : "Text"}</label>
      {values.length > 0 && (
        <div class="row" role="group" aria-label="Selected values">
          {values.map((value) => (
            <span class="pill" key={value}>
              <span class="pill-text">{visible(isExactly ? valueText(dimension, value, names.get(value)) : value)}</span>
              <IconButton
                icon="close"
                label={`Remove ${visible(names.get(value) ?? value)}`}
                onClick={() => onValues(values.filter((one) => one !== value))}
              />
            </span>
          ))}
        </div>
      )}
      <input
        id={id}
        class="input"
        role="combobox"
        aria-expanded={rows.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        autocomplete="off"
        autofocus
        value={typed}
        disabled={isFull}
        maxLength={2_000}
        placeholder={isExactly ? "Search values" : "Type a text and press Enter"}
        onInput={(event) => {
          setTyped(event.currentTarget.value)
          setActive(-1)
        }}
        onBlur={() => !isExactly && toggle(typed.trim())}
        onKeyDown={onKey}
      />
      <ul id={`${id}-list`} class="options" role="listbox" aria-label="Suggestions" aria-multiselectable="true" aria-busy={isPending}>
        {rows.map(({ value, label, visitors }, index) => (
          <li
            key={value}
            id={`${id}-${index}`}
            class="option"
            role="option"
            aria-selected={values.includes(value)}
            data-active={index === active || undefined}
            // Prevents the field from losing focus, which would add the typed text.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => toggle(value)}
          >
            <span class="option-text">
              <ValueIcon dimension={dimension} value={value} /> {visible(valueText(dimension, value, label))}
            </span>
            <span class="quiet small">{short(visitors)}</span>
          </li>
        ))}
      </ul>
      <span class="field-note" role="status">
        {isFull
          ? `A filter can have at most ${MAX_VALUES} values.`
          : rows.length === 0 && !isPending
            ? "No matches in this period. Press Enter to use what you typed."
            : ""}
      </span>
    </div>
  )
}

/** Fetches the values that contain the typed text, most visitors first, shortly after the last key press. */
function useSuggestions({
  dimension,
  property,
  others,
  typed,
}: Pick<ValuePickerProps, "dimension" | "property" | "others"> & { typed: string }) {
  const { address } = useSiteAddress()
  const q = useDebouncedValue(typed.trim(), WAIT_MS)
  const isProperty = dimension === "property"
  const { data, isFetching } = useReport(
    "values",
    {
      ...rangeArguments({ ...address, filters: others, any: [] }),
      dimension,
      ...(isProperty && { property }),
      ...(q !== "" && { q }),
      limit: ROWS,
    },
    { enabled: !isProperty || property !== "", refetchMs: false },
  )
  return { rows: (data as Suggestions | undefined)?.data ?? [], isPending: isFetching }
}
