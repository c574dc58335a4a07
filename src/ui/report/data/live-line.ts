import { useCallback, useEffect, useRef, useState } from "preact/hooks"

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000

export interface LiveLine {
  /** While there is no line to the server: when it is tried again, epoch milliseconds. */
  retryAt: number | undefined
  retryNow(): void
}

/**
 * Listens to what comes in for a site (`GET …/live`), by the names of the events. A line that is lost is opened again, each
 * time after twice the wait, at most 30 s. The names must not change while it is open.
 */
export function useLiveLine(siteId: number, hear: Readonly<Record<string, (data: unknown) => void>>, enabled = true): LiveLine {
  const [retryAt, setRetryAt] = useState<number>()
  const latest = useRef(hear)
  latest.current = hear
  const reopen = useRef(() => {})
  useEffect(() => {
    if (!enabled) return
    let line: EventSource
    let timer: ReturnType<typeof setTimeout>
    let wait = FIRST_WAIT_MS
    const open = () => {
      clearTimeout(timer)
      line?.close()
      line = new EventSource(`/api/private/sites/${siteId}/live`)
      line.onopen = () => {
        wait = FIRST_WAIT_MS
        setRetryAt(undefined)
      }
      for (const name of Object.keys(latest.current))
        line.addEventListener(name, ({ data }: MessageEvent<string>) => latest.current[name]?.(JSON.parse(data)))
      line.onerror = () => {
        // By itself it would try again every few seconds for ever, and never after a refusal.
        line.close()
        setRetryAt(Date.now() + wait)
        timer = setTimeout(open, wait)
        wait = Math.min(LONGEST_WAIT_MS, 2 * wait)
      }
    }
    reopen.current = open
    open()
    return () => {
      clearTimeout(timer)
      line.close()
      setRetryAt(undefined)
    }
  }, [siteId, enabled])
  return { retryAt, retryNow: useCallback(() => reopen.current(), []) }
}
