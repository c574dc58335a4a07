import type { ComponentType } from "preact"
import { lazy } from "preact/compat"
import { useEffect, useState } from "preact/hooks"
import { NewVersion } from "./states.tsx"
import { toast } from "./toasts.tsx"

/**
 * Loads a screen when it is opened. If its script is missing, the server runs a newer build than the page. `name` is the export of the
 * loaded file that has the screen.
 */
export function lazyScreen<Module extends Record<Name, ComponentType>, Name extends keyof Module = "default" & keyof Module>(
  load: () => Promise<Module>,
  name = "default" as Name,
): ComponentType {
  return lazy(() =>
    load().then(
      (loaded): ComponentType => loaded[name],
      () => NewVersion,
    ),
  )
}

/**
 * Loads a part of a page when it is needed. If that fails, the page works without it and shows a toast. `name` is the export of the
 * module.
 */
export function lazyPart<Module, Name extends keyof Module = "default" & keyof Module>(
  load: () => Promise<Module>,
  name = "default" as Name,
): Module[Name] {
  const part: unknown = lazy(() =>
    load().then(
      (loaded) => loaded[name] as typeof Missing,
      () => Missing,
    ),
  )
  return part as Module[Name] // `Missing` uses only `onClose`, which is optional
}

let styled: Promise<void> | undefined

/** Loads the styles of the plugins' pages before what `load` loads is drawn. Without them the pages are drawn as well. */
export function withAreaStyles<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    styled ??= new Promise((resolve) => {
      const link = document.createElement("link")
      link.rel = "stylesheet"
      link.href = AREA_STYLES_PATH
      link.onload = link.onerror = () => resolve()
      document.head.append(link)
    })
    const [module] = await Promise.all([load(), styled])
    return module
  }
}

/** Stands in for a part that couldn't be loaded. Closes a dialog, so that it can be opened again. */
function Missing({ onClose }: { onClose?(): void }) {
  useEffect(() => {
    toast("Part of this page couldn't be loaded. The server can't be reached or runs a newer version. Reload the page.")
    onClose?.()
  }, [])
  return null
}

/** Reloads the current URL from the server, because another script draws that page. */
export function ReloadPage() {
  useEffect(() => location.reload(), [])
  return null
}

const waiting: (() => void)[] = []
const { port1, port2 } = new MessageChannel()
const next = () => port2.postMessage(null)
port1.onmessage = () => {
  try {
    waiting[0]!()
  } finally {
    waiting.shift()
    if (waiting.length > 0) next()
  }
}

/** Runs pieces of work in order, one per task, so that the browser can paint and handle input in between. */
export function inTurn(work: () => void): void {
  if (waiting.push(work) === 1) next()
}

/** Returns how many of a page's parts to draw: none in the first render, then one more in each task. */
export function useTurns(parts: number): number {
  const [turns, setTurns] = useState(0)
  useEffect(() => {
    for (let turn = 1; turn <= parts; turn++) inTurn(() => setTurns((before) => Math.max(before, turn)))
  }, [parts])
  return turns
}
