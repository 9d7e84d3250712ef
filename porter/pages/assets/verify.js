// Puts the page together.

function start() {
  startTheme();
  startVerdict();
  startRuns();
  startProcesses();
  startParameters();
  startTrap();
  startEnvironment();
  startTails();
  startChoices();
  drawn(drawCurves).then((plotly) => {
    byId("choices").addEventListener("change", () => drawCurves(plotly));
  });
}

start();
