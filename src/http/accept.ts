/** Returns whether `Accept` admits a media type. The most specific matching range decides, and `q=0` excludes it. */
export function accepts(request: Request, type: string): boolean {
  const header = request.headers.get("accept")?.trim()
  if (!header) return true
  const ranges = header.split(",").map(toRange)
  const fitting = [type, `${type.split("/")[0]}/*`, "*/*"].map((name) => ranges.find((range) => range.name === name))
  return (fitting.find((range) => range !== undefined)?.quality ?? 0) > 0
}

/** Returns whether the client prefers a web page. Browsers list HTML explicitly when they navigate; programs send `*`. */
export const wantsPage = (request: Request): boolean =>
  (request.headers.get("accept") ?? "").toLowerCase().includes("text/html") && accepts(request, "text/html")

function toRange(text: string): { name: string; quality: number } {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith("q="))
  return { name, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
}

/** Returns the best encoding that the client accepts. `q=0` excludes an encoding. */
export function encodingOf(request: Request): "zstd" | "gzip" | undefined {
  const header = request.headers.get("accept-encoding") ?? ""
  const accepted = header.split(",").filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
  const has = (name: string) => accepted.some((part) => part.split(";")[0]!.trim().toLowerCase() === name)
  return has("zstd") ? "zstd" : has("gzip") ? "gzip" : undefined
}
