import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Field } from "./fields.tsx"

/** What is looked for in a list; asked when typing rests. */
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

/** Fields that narrow a list, in a row. */
export const FilterRow = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="filter-row" role="search" aria-label={label}>
    {children}
  </div>
)
