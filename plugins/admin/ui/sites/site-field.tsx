import { SelectField, visible } from "#plugin/ui"
import { useAdmin } from "./ask.ts"

/** All sites of the instance by name; of what costs least to ask. */
export function useSiteNames(): ReadonlyMap<number, string> {
  const { data } = useAdmin<{ sites: { site_id: number; name: string }[] }>("retention")
  return new Map(data?.sites.map(({ site_id, name }) => [site_id, visible(name)]))
}

/** A site as tables name one; of one that is gone its number is left. */
export const siteText = (names: ReadonlyMap<number, string>, id: number): string =>
  names.has(id) ? `${names.get(id)} (${id})` : `Site ${id}`

/** One site, or any. */
export function SiteField({ value, onValue }: { value: string; onValue(id: string): void }) {
  const names = useSiteNames()
  const chosen = Number(value)
  const ids = [...new Set([...names.keys(), ...(value === "" ? [] : [chosen])])]
  return (
    <SelectField
      label="Site"
      value={value}
      options={[{ value: "", label: "Any" }, ...ids.map((id) => ({ value: String(id), label: siteText(names, id) }))]}
      onValue={onValue}
    />
  )
}
