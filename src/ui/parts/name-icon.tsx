import { BRAND_ICONS } from "../../domain/brand.ts"

/** Dimensions whose values have icons. */
const ICONS: Readonly<Record<string, (value: string) => string | undefined>> = {
  country: (value) => (/^[A-Z]{2}$/.test(value) ? value : undefined),
  region: (value) => /^([A-Z]{2})-/.exec(value)?.[1],
  source: brand,
  browser: brand,
  os: brand,
}

function brand(value: string): string | undefined {
  const name = value.toLowerCase()
  return Object.hasOwn(BRAND_ICONS, name) ? BRAND_ICONS[name] : undefined
}

/** A flag or brand icon before the name of a value, or a globe. Decorative. Its file is loaded when the first one is shown. */
export default function NameIcon({ dimension, value }: { dimension: string; value: string }) {
  const id = ICONS[dimension]?.(value)
  const isFlag = id !== undefined && (dimension === "country" || dimension === "region")
  return (
    <svg class="name-icon" data-flag={isFlag || undefined} aria-hidden="true" focusable="false">
      <use href={`${SYMBOLS_PATH}#${id ?? "globe"}`} />
    </svg>
  )
}
