import { countryName, memoize } from "#plugin/worker"
import { regionList } from "./region-list.ts" with { type: "macro" }
import { plainName } from "./region-spelling.ts"

/** Names by which Google calls regions, in addition to those of CLDR and ISO 3166-2, in the form that is compared. */
const OTHER_NAMES: Readonly<Record<string, readonly (readonly [name: string, code: string])[]>> = {
  CH: [
    ["basel city", "BS"],
    ["grisons", "GR"],
  ],
  CO: [["bogota", "DC"]],
  CZ: [["prague", "10"]],
  ES: [["navarre", "NC"]],
  FR: [
    ["corsica", "20R"],
    ["normandy", "NOR"],
  ],
  IT: [["trentino alto adige", "32"]],
  MX: [["mexico city", "CMX"]],
  PL: [
    ["lower silesian", "02"],
    ["kuyavian pomeranian", "04"],
    ["masovian", "14"],
    ["podkarpackie", "18"],
    ["podlaskie", "20"],
    ["pomeranian", "22"],
    ["silesian", "24"],
    ["swietokrzyskie", "26"],
    ["warmian masurian", "28"],
    ["west pomeranian", "32"],
  ],
  RU: [["moscow oblast", "MOS"]],
  US: [["district of columbia", "DC"]],
}

/** Words for the kind of a region, which one list adds to the name and another one leaves out. */
const KINDS = new RegExp(
  `\\b(?:${[
    "and|area|autonomous|autonomy|canton|capital|city|community|county|department|district|division|emirate|governorate|krai",
    "metropolitan|municipality|oblast|of|parish|prefecture|principality|province|region|republic|state|territory|the|voivodeship",
  ].join("|")})\\b`,
  "g",
)

interface Region {
  code: string
  names: readonly string[]
}

/** Returns the ISO 3166-2 code of a region by its English or local name, such as `US-CA` for California; "" for unknown names. */
export function regionByName(country: string, name: string): string {
  const wanted = plainName(name)
  if (wanted === "") return ""
  const { levels, bare } = regionsOf(country)
  for (const regions of levels) {
    const found =
      regions.find(({ names }) => names.includes(wanted)) ?? only(regions.filter(({ names }) => names.map(bare).includes(bare(wanted))))
    if (found) return `${country}-${found.code}`
  }
  return ""
}

/** A name that means several regions means none, rather than the wrong one. */
const only = (regions: readonly Region[]): Region | undefined =>
  new Set(regions.map(({ code }) => code)).size === 1 ? regions[0] : undefined

const regionsOf = memoize(300, (country: string) => {
  const lines = regionList()
    .split("\n")
    .filter((line) => line.startsWith(`${country}-`))
  const ofLevel = (level: string): Region[] =>
    lines.flatMap((line) => {
      const [code = "", itsLevel, ...names] = line.split(" ")
      return itsLevel === level ? [{ code: code.slice(3), names: names.join(" ").split("|") }] : []
    })
  const others = (OTHER_NAMES[country] ?? []).map(([name, code]): Region => ({ code, names: [name] }))
  const own = ` ${plainName(countryName(country) ?? "")} `
  /** Leaves out the kind of the region and the name of the country, unless nothing else is left. */
  const bare = (name: string): string => {
    const local = ` ${name} `.replace(own, " ").trim().replace(/ of$/, "")
    return local.replace(KINDS, "").replace(/ {2,}/g, " ").trim() || local || name
  }
  return { levels: [[...others, ...ofLevel("1")], ofLevel("2")], bare }
})
