/** Whether `Accept` admits a media type; the most specific range that fits decides, and `q=0` is a refusal. */
export function accepts(request: Request, type: string): boolean {
  const header = request.headers.get("accept")?.trim()
  if (!header) return true
  const ranges = header.split(",").map(toRange)
  const fitting = [type, `${type.split("/")[0]}/*`, "*/*"].map((name) => ranges.find((range) => range.name === name))
  return (fitting.find((range) => range !== undefined)?.quality ?? 0) > 0
}

/** Whether a person reads the answer: browsers name HTML when they go to a page, `*` is what programs send. */
export const wantsPage = (request: Request): boolean =>
  (request.headers.get("accept") ?? "").toLowerCase().includes("text/html") && accepts(request, "text/html")

function toRange(text: string): { name: string; quality: number } {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith("q="))
  return { name, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
}
