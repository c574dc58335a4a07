/** The table of texts: per site and dictionary, numbered from 0. */
import type { Database } from "bun:sqlite"
import { CHANNELS, type DictionaryName, FIXED_NAMES } from "../../../domain/dimension.ts"

/** The text that replaces values over the limit. */
export const OTHER = "(other)"

/** Texts whose numbers are the same on every site. They are not in the table. */
const FIXED: Partial<Record<DictionaryName, readonly string[]>> = { name: FIXED_NAMES, channel: CHANNELS }
const MISSING: readonly string[] = [""]
export const fixedTexts = (name: DictionaryName): readonly string[] => FIXED[name] ?? MISSING

/** Cached names of the dictionaries of property values. A newly built string would have to be hashed again for each map lookup. */
const propertyNames: DictionaryName[] = []

/** Returns the name of the dictionary of a property's values, by the number of the property's key. */
export function propertyDictionary(key: number): DictionaryName {
  propertyNames[key] ??= `property:${key}`
  return propertyNames[key]
}

/** Returns the number that the next text of a dictionary gets. */
export function nextNumber(db: Database, siteId: number, name: DictionaryName): number {
  const sql = "select max(id) as last from dictionary where site_id = ? and name = ?"
  const last = db.query<{ last: number | null }, [number, string]>(sql).get(siteId, name)?.last
  return typeof last === "number" ? last + 1 : fixedTexts(name).length
}

/** Returns the number of a text, or undefined if the site does not have it. */
export function numberOf(db: Database, siteId: number, name: DictionaryName, text: string): number | undefined {
  if (text === "") return 0
  const fixed = fixedTexts(name).indexOf(text)
  if (fixed !== -1) return fixed
  const sql = "select id from dictionary where site_id = ? and name = ? and value = ?"
  return db.query<{ id: number }, [number, string, string]>(sql).get(siteId, name, text)?.id
}

/** Returns the text of a number; "" for the missing value and blanked ones. */
export function textOf(db: Database, siteId: number, name: DictionaryName, id: number): string {
  const fixed = fixedTexts(name)
  if (id < fixed.length) return fixed[id]!
  const sql = "select value from dictionary where site_id = ? and name = ? and id = ?"
  return db.query<{ value: string }, [number, string, number]>(sql).get(siteId, name, id)?.value ?? ""
}

/** Returns whether a dictionary has a text with an ending. */
export function hasTextEnding(db: Database, siteId: number, name: DictionaryName, ending: string): boolean {
  const sql = "select 1 from dictionary where site_id = ?1 and name = ?2 and substr(value, -length(?3)) = ?3 limit 1"
  return db.query<unknown, [number, string, string]>(sql).get(siteId, name, ending) !== null
}
