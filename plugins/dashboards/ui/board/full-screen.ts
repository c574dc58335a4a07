import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"
import { toast } from "#plugin/ui"

/** Shows an element on the whole screen. Escape leaves it, as everywhere in the browser. */
export function useFullScreen(element: RefObject<HTMLElement | null>): { isFull: boolean; toggle(): void } {
  const [isFull, setFull] = useState(false)
  useEffect(() => {
    const onChange = () => setFull(document.fullscreenElement !== null && document.fullscreenElement === element.current)
    document.addEventListener("fullscreenchange", onChange)
    return () => document.removeEventListener("fullscreenchange", onChange)
  }, [])
  const toggle = () => {
    const done = document.fullscreenElement ? document.exitFullscreen() : element.current?.requestFullscreen()
    done?.catch(() => toast("The browser doesn't allow full screen here."))
  }
  return { isFull, toggle }
}
