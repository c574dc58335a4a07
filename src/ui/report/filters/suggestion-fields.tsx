import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import type { Properties, Suggestions } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { useDebouncedValue } from "../../browser/hooks.ts"
import { TextField } from "../../parts/form/fields.tsx"
import { useReport } from "../data/reports.ts"

interface MatchValueFieldProps {
  label: ComponentChildren
  of: "event" | "page"
  value: string
  onValue(value: string): void
  error?: string | undefined
  note?: string
  autofocus?: boolean
}

const WAIT_MS = 150
const ROWS = 20

/** Text field for an event name or a page, with suggestions from the period. */
export function MatchValueField({ of, value, ...others }: MatchValueFieldProps) {
  const { address } = useSiteAddress()
  const list = useId()
  const q = useDebouncedValue(value.trim(), WAIT_MS)
  const { data } = useReport(
    "values",
    { ...rangeArguments({ ...address, filters: [], any: [] }), dimension: of, ...(q !== "" && { q }), limit: ROWS },
    { refetchMs: false },
  )
  return (
    <>
      <TextField value={value} list={list} maxLength={2_000} autocomplete="off" {...others} />
      <datalist id={list}>
        {((data as Suggestions | undefined)?.data ?? []).map((row) => (
          <option key={row.value} value={row.value} />
        ))}
      </datalist>
    </>
  )
}

/** Text field for a property key, with suggestions from the period. */
export function PropertyKeyField({ value, onValue }: { value: string; onValue(key: string): void }) {
  const { address } = useSiteAddress()
  const list = useId()
  const { data } = useReport("properties", { ...rangeArguments({ ...address, filters: [], any: [] }), limit: 20 }, { refetchMs: false })
  const keys = (data as Properties | undefined)?.data ?? []
  return (
    <>
      <TextField label="Property" value={value} onValue={onValue} list={list} maxLength={300} autocomplete="off" />
      <datalist id={list}>
        {keys.map(({ property }) => (
          <option key={property} value={property} />
        ))}
      </datalist>
    </>
  )
}
