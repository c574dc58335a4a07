import { useEffect } from "preact/hooks"

/** Reloads the current URL from the server, because another script draws that page. */
export function ReloadPage() {
  useEffect(() => location.reload(), [])
  return null
}
