import { type FigureTone, NO_ROWS, type WordedReport } from "./wording.ts"

/** The parts of an email that a report fills. */
export interface ReportEmail {
  subject: string
  text: string
  html: string
}

interface EmailLinks {
  /** URL of the site's dashboard with the days of the report. */
  dashboard: string
  /** URL at which the recipient unsubscribes. */
  unsubscribe: string
}

/** Why a recipient gets the email. */
const REASON = "You receive this email because someone subscribed this address to reports about the site."

/** Writes the email of a report as text and as HTML, with the same content. */
export const emailOf = (report: WordedReport, links: EmailLinks): ReportEmail => ({
  subject: `${report.title}: ${report.days}`,
  text: textOf(report, links),
  html: htmlOf(report, links),
})

function textOf({ title, days, figures, lists }: WordedReport, { dashboard, unsubscribe }: EmailLinks): string {
  const lines = figures.map(({ label, value, change }) => `${label}: ${value}${change === null ? "" : ` (${change})`}`)
  const blocks = lists.map((list) => {
    const rows = list.rows.map(({ name, value }) => `${name}: ${value}`)
    return [`${list.title} (${list.unit.toLowerCase()})`, ...(rows.length > 0 ? rows : [NO_ROWS])].join("\n")
  })
  return [
    `${title}\n${days}`,
    ...(lines.length > 0 ? [lines.join("\n")] : []),
    ...blocks,
    `Open the dashboard:\n${dashboard}`,
    `${REASON} Unsubscribe:\n${unsubscribe}`,
  ].join("\n\n")
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)

/** The colours of the dashboard in the light theme; those of the dark one are in the style sheet. */
const COLORS = { bg: "#f7f6f3", surface: "#ffffff", ink: "#1c1b19", quiet: "#55524c", line: "#e4e1da", accent: "#0b5d57" } as const
const TONES: Readonly<Record<FigureTone, string>> = { good: "#176b3a", bad: "#a3261b", none: COLORS.quiet }
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

/**
 * Mail programs ignore style sheets in part, so every style is inline and the layout is made of tables. Programs that know dark mode
 * use the classes of the style sheet; those that invert colours by themselves find no images and no text on coloured ground but the button.
 */
const STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background:#131412!important}.card{background:#1b1c1a!important;border-color:#30312d!important}
.ink{color:#f0eee9!important}.quiet,.none{color:#b9b5ac!important}.line{border-color:#30312d!important}
.good{color:#66d08f!important}.bad{color:#ff8f82!important}.link{color:#5fd0c3!important}
.button{background:#5fd0c3!important}.button a{color:#06251f!important}}
@media (max-width:480px){.pad{padding-left:16px!important;padding-right:16px!important}}`

const TABLE = `role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`
const font = (size: number, line: number, color: string, weight = 400): string =>
  `${FONT};font-size:${size}px;line-height:${line}px;font-weight:${weight};color:${color}`

function htmlOf(report: WordedReport, { dashboard, unsubscribe }: EmailLinks): string {
  const { title, days, lists } = report
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body class="page" style="margin:0;padding:0;background:${COLORS.bg}">
<div style="display:none;max-height:0;overflow:hidden">${escaped(summaryOf(report))}</div>
<table ${TABLE} class="page" style="background:${COLORS.bg}"><tr><td align="center" style="padding:24px 12px">
<table ${TABLE} class="card" style="max-width:600px;background:${COLORS.surface};border:1px solid ${COLORS.line};border-radius:4px"><tr><td class="pad" style="padding:24px 24px 16px">
<h1 class="ink" style="margin:0;${font(20, 28, COLORS.ink, 600)}">${escaped(title)}</h1>
<p class="quiet" style="margin:2px 0 0;${font(14, 20, COLORS.quiet)}">${escaped(days)}</p>
</td></tr>
${figuresHtml(report)}${lists.map(listHtml).join("")}
<tr><td class="pad" style="padding:24px">
<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td class="button" style="border-radius:4px;background:${COLORS.accent}">
<a href="${escaped(dashboard)}" style="display:inline-block;padding:10px 16px;${font(15, 20, "#ffffff", 600)};text-decoration:none">Open the dashboard</a>
</td></tr></table></td></tr></table>
<table ${TABLE} style="max-width:600px"><tr><td class="quiet pad" style="padding:16px 24px;${font(12, 18, COLORS.quiet)}">
${REASON}<br>
<a class="link" href="${escaped(unsubscribe)}" style="color:${COLORS.accent}">Unsubscribe</a>
</td></tr></table>
</td></tr></table></body></html>`
}

/** The line that mail programs show next to the subject. */
const summaryOf = ({ figures }: WordedReport): string =>
  figures
    .slice(0, 3)
    .map(({ label, value }) => `${label}: ${value}`)
    .join(" · ")

const PER_ROW = 3

function figuresHtml({ figures }: WordedReport): string {
  if (figures.length === 0) return ""
  const cells = figures.map(
    ({ label, value, change, tone }) =>
      `<td width="33%" valign="top" style="padding:12px 8px 12px 0"><span class="quiet" style="${font(13, 18, COLORS.quiet)}">${label}</span><br>` +
      `<span class="ink" style="${font(22, 30, COLORS.ink, 600)}">${escaped(value)}</span><br>` +
      `<span class="${tone}" style="${font(13, 18, TONES[tone])}">${change ?? "&nbsp;"}</span></td>`,
  )
  const empty = `<td width="33%">&nbsp;</td>`
  const rows: string[] = []
  for (let from = 0; from < cells.length; from += PER_ROW)
    rows.push(`<tr>${cells.slice(from, from + PER_ROW).join("")}${empty.repeat(Math.max(0, from + PER_ROW - cells.length))}</tr>`)
  const ruled = `border-top:1px solid ${COLORS.line};border-bottom:1px solid ${COLORS.line}`
  return `<tr><td class="pad" style="padding:0 24px"><table ${TABLE} class="line" style="${ruled}">${rows.join("")}</table></td></tr>`
}

function listHtml({ title, unit, rows }: WordedReport["lists"][number]): string {
  const head =
    `<tr><th class="ink" align="left" scope="col" style="padding:0 0 6px;${font(15, 24, COLORS.ink, 600)}">${title}</th>` +
    `<th class="quiet" align="right" scope="col" style="padding:0 0 6px;${font(13, 24, COLORS.quiet)}">${unit}</th></tr>`
  const cell = (color: string): string => `padding:6px 0;border-top:1px solid ${COLORS.line};${font(14, 20, color)}`
  const body = rows.map(
    ({ name, value }) =>
      `<tr><td class="ink line" style="${cell(COLORS.ink)};word-break:break-word">${escaped(name)}</td>` +
      `<td class="ink line" align="right" valign="top" width="96" style="${cell(COLORS.ink)}">${value}</td></tr>`,
  )
  const none = `<tr><td class="quiet line" colspan="2" style="${cell(COLORS.quiet)}">${NO_ROWS}</td></tr>`
  return `<tr><td class="pad" style="padding:24px 24px 0"><table width="100%" cellpadding="0" cellspacing="0" border="0">${head}${body.length > 0 ? body.join("") : none}</table></td></tr>`
}
