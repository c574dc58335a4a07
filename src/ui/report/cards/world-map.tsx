import { geoEqualEarth, geoPath } from "d3-geo"
import { useRef, useState } from "preact/hooks"
import { feature } from "topojson-client"
import type { GeometryCollection, Topology } from "topojson-specification"
import world from "world-atlas/countries-110m.json"
import { useLocation } from "wouter"
import { metricLabel, metricText } from "../../text/format.ts"
import { countryName } from "../data/figures.ts"
import type { RankedRow } from "./ranked-list.tsx"

// The type that TypeScript derives from the file is too wide for topojson-client.
const atlas = world as unknown as Topology<{ countries: GeometryCollection<{ name: string }> }>
const WIDTH = 960
const HEIGHT = 468
const STEPS = 5
const path = geoPath(geoEqualEarth().fitSize([WIDTH, HEIGHT], { type: "Sphere" }))
/** Two-letter codes and numbers of ISO 3166-1 for the countries on the map. */
const PAIRS = `
  AE784 AF004 AL008 AM051 AO024 AQ010 AR032 AT040 AU036 AZ031 BA070 BD050 BE056 BF854 BG100 BI108 BJ204 BN096 BO068 BR076 BS044 BT064
  BW072 BY112 BZ084 CA124 CD180 CF140 CG178 CH756 CI384 CL152 CM120 CN156 CO170 CR188 CU192 CY196 CZ203 DE276 DJ262 DK208 DO214 DZ012
  EC218 EE233 EG818 EH732 ER232 ES724 ET231 FI246 FJ242 FK238 FR250 GA266 GB826 GE268 GH288 GL304 GM270 GN324 GQ226 GR300 GT320 GW624
  GY328 HN340 HR191 HT332 HU348 ID360 IE372 IL376 IN356 IQ368 IR364 IS352 IT380 JM388 JO400 JP392 KE404 KG417 KH116 KP408 KR410 KW414
  KZ398 LA418 LB422 LK144 LR430 LS426 LT440 LU442 LV428 LY434 MA504 MD498 ME499 MG450 MK807 ML466 MM104 MN496 MR478 MW454 MX484 MY458
  MZ508 NA516 NC540 NE562 NG566 NI558 NL528 NO578 NP524 NZ554 OM512 PA591 PE604 PG598 PH608 PK586 PL616 PR630 PS275 PT620 PY600 QA634
  RO642 RS688 RU643 RW646 SA682 SB090 SD729 SE752 SI705 SK703 SL694 SN686 SO706 SR740 SS728 SV222 SY760 SZ748 TD148 TF260 TG768 TH764
  TJ762 TL626 TM795 TN788 TR792 TT780 TW158 TZ834 UA804 UG800 US840 UY858 UZ860 VE862 VN704 VU548 YE887 ZA710 ZM894 ZW716
`

const CODES = new Map(
  PAIRS.trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(2), pair.slice(0, 2)]),
)

/** Returns the country code of a shape on the map by its ISO number. A few disputed areas have no code. */
const countryCode = (number: string): string | undefined => CODES.get(number)

/** Outlines of all countries but Antarctica, which has no visitors and would take a quarter of the height. */
const shapes = feature(atlas, atlas.objects.countries)
  .features.map((shape) => ({ name: shape.properties.name, code: countryCode(String(shape.id)), outline: path(shape) ?? "" }))
  .filter(({ code }) => code !== "AQ")

interface WorldMapProps {
  rows: readonly RankedRow[]
  /** Metric that is drawn. Default: visitors, or conversions if the rows have those instead. */
  metric?: string
  /** Where the same numbers are listed. */
  twin?: string
  addressOf: ((value: string) => string) | undefined
}

/** A metric by country on five shades; countries without any are hatched. Arrow keys move by rank; the list twin has the same numbers. */
export default function WorldMap({ rows, metric, twin = "The tab Country lists all.", addressOf }: WorldMapProps) {
  const [at, setAt] = useState<number>()
  // Announced only when a key moved the selection; a pointer moves it too often.
  const [speaks, setSpeaks] = useState(false)
  const [, navigate] = useLocation()
  const picture = useRef<SVGSVGElement>(null)
  const figureIn = (row: RankedRow | undefined): number => Number((metric ? row?.[metric] : (row?.visitors ?? row?.conversions)) ?? 0)
  const name = metric ?? "visitors"
  const most = Math.max(1, ...rows.map(figureIn))
  const shown = at === undefined ? undefined : rows[at]
  const open = (row: RankedRow | undefined) => row && addressOf && navigate(addressOf(row.value))
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (event.key === "Enter") open(shown)
    else if (step === undefined) return
    else {
      setSpeaks(true)
      setAt(Math.max(0, Math.min(rows.length - 1, (at ?? (step > 0 ? -1 : rows.length)) + step)))
    }
    event.preventDefault()
  }
  return (
    <div class="map" onPointerMove={() => setSpeaks(false)}>
      <p class="map-read-out small" aria-live={speaks ? "polite" : "off"}>
        {shown ? `${(at ?? 0) + 1}. ${countryName(shown.value) ?? shown.label}: ${metricText(name, figureIn(shown), undefined, true)}` : ""}
      </p>
      <svg
        ref={picture}
        viewBox={`0 0 ${WIDTH} 420`}
        role="img"
        tabindex={0}
        aria-label={`${metricLabel(name)} by country, most in ${rows
          .slice(0, 3)
          .map(({ value, label }) => countryName(value) ?? label)
          .join(", ")}. ${twin} Arrow keys move by rank, Enter filters.`}
        onKeyDown={move}
      >
        <defs>
          <pattern id="map-none" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line class="map-hatch" x1="0" y1="0" x2="0" y2="6" />
          </pattern>
        </defs>
        {shapes.map(({ name, code, outline }) => {
          const index = rows.findIndex(({ value }) => value === code)
          const value = figureIn(rows[index])
          return (
            <path
              key={name}
              d={outline}
              class="map-country"
              data-heat={value > 0 ? Math.ceil((value / most) * STEPS) : undefined}
              data-chosen={(index >= 0 && index === at) || undefined}
              onPointerEnter={() => index >= 0 && setAt(index)}
              onClick={() => open(rows[index])}
            />
          )
        })}
      </svg>
      <Legend most={most} text={(value) => metricText(name, value, undefined)} />
    </div>
  )
}

/** The shades of the map with the highest value of each. */
const Legend = ({ most, text }: { most: number; text(value: number): string }) => (
  <ul class="map-legend small quiet" aria-label="Shades">
    <li>
      <svg class="map-swatch" aria-hidden="true">
        <rect width="100%" height="100%" fill="url(#map-none)" />
      </svg>
      0
    </li>
    {Array.from({ length: Math.min(STEPS, most) }, (_, step) => (
      <li key={step}>
        <span class="map-swatch" data-heat={most < STEPS ? Math.ceil(((step + 1) / most) * STEPS) : step + 1} />
        {most <= STEPS ? text(step + 1) : `to ${text(Math.floor(((step + 1) * most) / STEPS))}`}
      </li>
    ))}
  </ul>
)
