import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { iso31662 } from "iso-3166"
import { plainName } from "./region-spelling.ts"

const ENGLISH = "cldr-subdivisions-full/subdivisions/en/en.json"

/** The part of the file of CLDR that is read: names by ids such as `usca`. */
interface EnglishFile {
  subdivisions: { localeDisplayNames: { subdivisions: Record<string, string> } }
}

/**
 * Lists the regions of all countries, one per line: code, level, and names as they are compared, such as `US-CA 1 california`. Level 1 is
 * a region of the country, level 2 a part of such a region. The codes and local names are those of ISO 3166-2, the English names those of
 * CLDR. Runs as a macro when the product is bundled or the module is loaded from source.
 */
export function regionList(): string {
  const path = fileURLToPath(import.meta.resolve(ENGLISH))
  const { subdivisions } = JSON.parse(readFileSync(path, "utf8")) as EnglishFile // the file of the package
  const english = subdivisions.localeDisplayNames.subdivisions
  const lines = iso31662.map(({ code, name, parent }) => {
    const names = [english[code.toLowerCase().replace("-", "")] ?? "", name].map(plainName)
    return `${code} ${parent.length === 2 ? 1 : 2} ${[...new Set(names)].filter((each) => each !== "").join("|")}`
  })
  return lines.join("\n")
}
