/** The flags and brand icons of the dashboard in one SVG file, which browsers load when the first of them is shown. */
import { basename, dirname, join } from "node:path"
import { Glob } from "bun"
import { BRAND_ICONS } from "../../domain/brand.ts"

/** Stands before names without an icon of their own: a globe. */
const GLOBE = "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 1.7 2.6 3.7 2.6 6s-.6 4.3-2.6 6c-2-1.7-2.6-3.7-2.6-6S6 3.7 8 2z"

/** Returns the file with a symbol for each country code and for each brand icon. */
export async function symbolFile(folder: string): Promise<string> {
  const flags = join(dirname(Bun.resolveSync("country-flag-icons/package.json", folder)), "3x2")
  const countries = await Promise.all(
    [...new Glob("??.svg").scanSync({ cwd: flags, absolute: true })].sort().map(async (file) => {
      const [, viewBox, drawing] = /^<svg[^>]*viewBox="([^"]+)"[^>]*>(.*)<\/svg>\s*$/s.exec(await Bun.file(file).text()) ?? []
      if (drawing === undefined) throw new Error(`${file} is not a flag as they used to be`)
      return `<symbol id="${basename(file, ".svg")}" viewBox="${viewBox}">${drawing}</symbol>`
    }),
  )
  const set: { icons: Record<string, { body: string }> } = await Bun.file(Bun.resolveSync("@iconify-json/cib/icons.json", folder)).json()
  const brands = [...new Set(Object.values(BRAND_ICONS))].map((id) => {
    const icon = set.icons[id]
    if (!icon) throw new Error(`The icon set has no icon ${id}`)
    return `<symbol id="${id}" viewBox="0 0 32 32">${icon.body}</symbol>`
  })
  const globe = `<symbol id="globe" viewBox="0 0 16 16"><path d="${GLOBE}" fill="none" stroke="currentColor"/></symbol>`
  return `<svg xmlns="http://www.w3.org/2000/svg">${globe}${brands.join("")}${countries.join("")}</svg>`
}
