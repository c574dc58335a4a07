/** How to get the files of each source, for people who have never exported them. */
interface ExportGuide {
  /** What is imported, in a few words. */
  brings: string
  /** Where to find the export. */
  steps: string
}

export const EXPORT_GUIDES: Readonly<Record<string, ExportGuide>> = {
  plausible: {
    brings: "Pages, sources, locations, devices and goals.",
    steps: "In Plausible, open Site settings → Imports & exports and select Export data. Upload the zip file as it is.",
  },
  umami: {
    brings: "Every pageview and event, with properties and revenue.",
    steps:
      "Umami Cloud: open Settings → Data and export the website. Self-hosted: dump the tables website_event and session as CSV, or run pg_dump in plain format. The export button of a website has no dates and can't be imported.",
  },
  goatcounter: {
    brings: "Every pageview from CSV, daily totals from JSON.",
    steps: "In GoatCounter, open Settings → Export. The CSV file has individual pageviews, the JSON file has totals.",
  },
  server_log: {
    brings: "Pageviews from the access logs of a web server.",
    steps:
      "Upload access logs of nginx, Apache, Caddy, IIS, CloudFront or Bunny, compressed or not. IP addresses are used to find countries and to tell visitors apart, and are not stored.",
  },
  csv_generic: {
    brings: "Events or daily totals from any table.",
    steps: "Upload a file with a header line and one event or one day per line. You choose the columns in the next step.",
  },
  footfall: {
    brings: "Visits, events and definitions of another Footfall site.",
    steps: "On the other instance, open Settings → General and select Export this site. Upload the zip file as it is.",
  },
  simple_analytics: {
    brings: "Every pageview and event.",
    steps: "In Simple Analytics, open Export, choose Data points and all columns, and download the CSV file.",
  },
  fathom: {
    brings: "Pages, sources, locations and devices, by day or hour.",
    steps: "In Fathom, open Settings → Export and export the site as CSV, by day or by hour. A zip file works, too.",
  },
  matomo: {
    brings: "Every visit with its actions.",
    steps: "Request Live.getLastVisitsDetails from the Reporting API as JSON, page by page, and upload all pages together.",
  },
  ga4_api: {
    brings: "Pages, sources, locations, devices and events, without an export.",
    steps:
      "Footfall fetches daily totals from a property of Google Analytics 4, by a Google account that is connected under Integrations. If the quota of Google is used up, the import waits an hour and continues.",
  },
  ga4_csv: {
    brings: "Reports and explorations that have a date column.",
    steps:
      "In an exploration, add the dimension Date next to the one you need and download CSV. For Universal Analytics, upload the exported CSV files of reports with the Day Index table.",
  },
  ga4_bigquery: {
    brings: "Every event, with revenue.",
    steps: "Export the tables events_YYYYMMDD from BigQuery as newline-delimited JSON, compressed or not.",
  },
}
