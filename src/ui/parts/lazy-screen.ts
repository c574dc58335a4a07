import type { ComponentType } from "preact"
import { lazy } from "preact/compat"
import { useEffect } from "preact/hooks"
import { toast } from "../browser/toasts.ts"
import { NewVersion } from "./system-pages.tsx"

/** Loads a screen when it is opened. If its script is missing, the server runs a newer build than the page. */
export const lazyScreen = (load: () => Promise<{ default: ComponentType }>) => lazy(() => load().catch(() => ({ default: NewVersion })))

/** Loads a part of a page when it is needed. If that fails, the page works without it and shows a toast. */
export const lazyPart = <Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) =>
  lazy(() => load().catch(() => ({ default: Missing as ComponentType<Props> }))) // it uses no property but the optional `onClose`

/** Stands in for a part that couldn't be loaded. Closes a dialog, so that it can be opened again. */
function Missing({ onClose }: { onClose?(): void }) {
  useEffect(() => {
    toast("Part of this page couldn't be loaded. The server can't be reached or runs a newer version. Reload the page.")
    onClose?.()
  }, [])
  return null
}
