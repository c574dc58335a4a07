import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Field } from "./fields.tsx"

/** Search field of a list. Reports the text after a pause in typing. */
export function SearchField({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => onValue(typed), 250)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <Field label={label}>
      {(described) => (
        <input class="input" type="search" {...described} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      )}
    </Field>
  )
}

/** A row of filter fields above a list. */
export const FilterRow = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="filter-row" role="search" aria-label={label}>
    {children}
  </div>
)
