import { SelectField, visible } from "#plugin/ui"
import { useAdmin } from "../queries.ts"

/** Returns the names of all sites by id. They come from the retention route, the cheapest one that lists all sites. */
export function useSiteNames(): ReadonlyMap<number, string> {
  const { data } = useAdmin<{ sites: { site_id: number; name: string }[] }>("retention")
  return new Map(data?.sites.map(({ site_id, name }) => [site_id, visible(name)]))
}

/** Returns the name of a site for tables; of a deleted site only the id is known. */
export const siteText = (names: ReadonlyMap<number, string>, id: number): string =>
  names.has(id) ? `${names.get(id)} (${id})` : `Site ${id}`

/** Select field for one site or any. */
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
