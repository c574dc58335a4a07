import { clockText, dayText } from "../../format.ts"

/** How a point's time reads: `time` is the first local day of the bucket, or local time with its offset for hours. */
export function bucketText(time: string, interval: string, size: "long" | "short" = "long"): string {
  const isShort = size === "short"
  if (interval === "hour") {
    const clock = clockText(`${time.slice(0, 16)}Z`, "UTC") // the local hour as it is, whatever its offset
    return isShort ? clock : `${dayText(time, { year: undefined })} ${clock}`
  }
  if (interval === "month") return dayText(time, { weekday: undefined, day: undefined, ...(isShort && { year: "2-digit" }) })
  if (isShort) return dayText(time, { weekday: undefined, year: undefined })
  return interval === "week" ? `Week of ${dayText(time, { weekday: undefined })}` : dayText(time)
}
