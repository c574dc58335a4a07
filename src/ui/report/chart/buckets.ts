import { clockText, dayText } from "../../text/format.ts"

/** Formats the time of a point. `time` is the first local day of the bucket; for hours, the local time with its offset. */
export function bucketText(time: string, interval: string, size: "long" | "short" = "long"): string {
  const isShort = size === "short"
  if (interval === "hour") {
    const clock = clockText(`${time.slice(0, 16)}Z`, "UTC") // keeps the local hour regardless of its offset
    return isShort ? clock : `${dayText(time, { year: undefined })} ${clock}`
  }
  if (interval === "month") return dayText(time, { weekday: undefined, day: undefined, ...(isShort && { year: "2-digit" }) })
  if (isShort) return dayText(time, { weekday: undefined, year: undefined })
  return interval === "week" ? `Week of ${dayText(time, { weekday: undefined })}` : dayText(time)
}
