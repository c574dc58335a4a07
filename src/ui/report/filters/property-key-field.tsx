import { useId } from "preact/hooks"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { TextField } from "../../parts/form/fields.tsx"
import { useReport } from "../data/use-report.ts"

/** Text field for a property key, with suggestions from the period. */
export function PropertyKeyField({ value, onValue }: { value: string; onValue(key: string): void }) {
  const { address } = useSiteAddress()
  const list = useId()
  const { data } = useReport("properties", { ...rangeArguments({ ...address, filters: [] }), limit: 20 }, { refetchMs: false })
  const keys = (data as { data: { property: string }[] } | undefined)?.data ?? []
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
