import { geoEqualEarth, geoPath } from "d3-geo"
import { useRef, useState } from "preact/hooks"
import { feature } from "topojson-client"
import type { GeometryCollection, Topology } from "topojson-specification"
import world from "world-atlas/countries-110m.json"
import { useLocation } from "wouter"
import { exact } from "../../format.ts"
import { countryName } from "../../stats/value-text.ts"
import { countryCode } from "./country-numbers.ts"
import type { RankedRow } from "./ranked-list.tsx"

// The type that TypeScript derives from the file is too wide for topojson-client.
const atlas = world as unknown as Topology<{ countries: GeometryCollection<{ name: string }> }>
const WIDTH = 960
const HEIGHT = 468
const STEPS = 5
const path = geoPath(geoEqualEarth().fitSize([WIDTH, HEIGHT], { type: "Sphere" }))
/** Antarctica is nobody's visitor, and takes a quarter of the height. */
const shapes = feature(atlas, atlas.objects.countries)
  .features.map((shape) => ({ name: shape.properties.name, code: countryCode(String(shape.id)), outline: path(shape) ?? "" }))
  .filter(({ code }) => code !== "AQ")

interface WorldMapProps {
  rows: readonly RankedRow[]
  addressOf: ((value: string) => string) | undefined
}

/** Visitors by country on five shades; countries without any are hatched. Arrow keys move by rank; the list twin has the same numbers. */
export default function WorldMap({ rows, addressOf }: WorldMapProps) {
  const [at, setAt] = useState<number>()
  // Spoken where a key moved it; a pointer moves it too often.
  const [speaks, setSpeaks] = useState(false)
  const [, navigate] = useLocation()
  const picture = useRef<SVGSVGElement>(null)
  const visitorsOf = (row: RankedRow | undefined): number => Number(row?.visitors ?? row?.conversions ?? 0)
  const most = Math.max(1, ...rows.map(visitorsOf))
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
      <p class="small" aria-live={speaks ? "polite" : "off"}>
        {shown
          ? `${(at ?? 0) + 1}. ${countryName(shown.value) ?? shown.label}: ${exact(visitorsOf(shown))}`
          : "Arrow keys move by rank, Enter filters."}
      </p>
      <svg
        ref={picture}
        viewBox={`0 0 ${WIDTH} 420`}
        role="img"
        tabindex={0}
        aria-label={`Visitors by country, most in ${rows
          .slice(0, 3)
          .map(({ value, label }) => countryName(value) ?? label)
          .join(", ")}. The tab Country lists all.`}
        onKeyDown={move}
      >
        <defs>
          <pattern id="map-none" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line class="map-hatch" x1="0" y1="0" x2="0" y2="6" />
          </pattern>
        </defs>
        {shapes.map(({ name, code, outline }) => {
          const index = rows.findIndex(({ value }) => value === code)
          const visitors = visitorsOf(rows[index])
          return (
            <path
              key={name}
              d={outline}
              class="map-country"
              data-heat={visitors > 0 ? Math.ceil((visitors / most) * STEPS) : undefined}
              data-chosen={(index >= 0 && index === at) || undefined}
              onPointerEnter={() => index >= 0 && setAt(index)}
              onClick={() => open(rows[index])}
            />
          )
        })}
      </svg>
    </div>
  )
}
