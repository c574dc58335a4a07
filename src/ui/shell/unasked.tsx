import { useEffect } from "preact/hooks"
import { asked } from "../proof.ts"
import { toast } from "../toasts.ts"

/** In place of a question that cannot be asked: its file is gone with an older build. What waits ends, and keeps what was typed. */
export function Unasked() {
  useEffect(() => {
    asked.get()?.cancel()
    toast("A newer version of Footfall is running. Keep what you typed, then load this page again.")
  }, [])
  return null
}
