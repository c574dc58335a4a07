import { Suspense } from "preact/compat"
import { lazyPart } from "./loading.ts"

const NameIcon = lazyPart(() => import("./name-icon.tsx"))

/** Dimensions with an icon before each name. */
const WITH_ICONS = ["country", "region", "source", "browser", "os"]

/** Icon before the name of a value, of a dimension that has icons. Its space is reserved until it is loaded. */
export const ValueIcon = ({ dimension, value }: { dimension: string | undefined; value: string }) =>
  dimension !== undefined && WITH_ICONS.includes(dimension) ? (
    <Suspense fallback={<span class="name-icon" />}>
      <NameIcon dimension={dimension} value={value} />
    </Suspense>
  ) : null
