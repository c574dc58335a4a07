import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { useMe } from "../api/session.ts"
import { lazyPart } from "../parts/loading.ts"
import { useKeys } from "../parts/shortcuts.ts"
import { entriesFor } from "./rail.tsx"

const KeyHelp = lazyPart(() => import("./key-help.tsx"))

const PLACES = {
  "g o": "",
  "g r": "/retention",
  "g g": "/goals",
  "g f": "/funnels",
  "g j": "/journeys",
  "g c": "/campaigns",
  r: "/realtime",
}

/** Binds the shortcuts of a site's pages: to other pages, to the site switcher and to the list of shortcuts. */
export function SiteKeys({ siteId, search, onSwitch }: { siteId: number; search: string; onSwitch(): void }) {
  const [isHelping, setHelping] = useState(false)
  const [, navigate] = useLocation()
  const me = useMe()
  const permissions = me?.sites.find(({ id }) => id === siteId)?.permissions ?? []
  const open = new Set(entriesFor(permissions, me?.features ?? []).map(({ path }) => path))
  const places = Object.entries(PLACES).filter(([, path]) => open.has(path))
  useKeys({
    ...Object.fromEntries(places.map(([key, path]) => [key, () => navigate(`/sites/${siteId}${path}${search}`)])),
    s: onSwitch,
    "?": () => setHelping(true),
  })
  return isHelping ? (
    <Suspense fallback={null}>
      <KeyHelp onClose={() => setHelping(false)} />
    </Suspense>
  ) : null
}
