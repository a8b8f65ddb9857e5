#!/usr/bin/env bash
# Fetch the reference engine of a profile into the cache: a Python environment with PySpark, and Delta's jars.
#
#     setup.sh delta-4.3|delta-4.0      prints two lines: the Python to start, and the jars joined by commas
#
# Needs Python 3.10 or newer, Java 17 and Maven. What is there already is used again.
set -euo pipefail

profile=${1:?usage: setup.sh delta-4.3|delta-4.0}
case $profile in
  delta-4.3) spark=4.1.4 delta=4.3.0 artifact=delta-spark_4.1_2.13 ;;
  delta-4.0) spark=4.0.1 delta=4.0.1 artifact=delta-spark_2.13 ;;
  *) echo "no such profile: $profile" >&2; exit 2 ;;
esac
for program in python3 java mvn; do
  command -v "$program" >/dev/null || {
    echo "$program is not at hand (Debian: apt-get install python3-venv openjdk-17-jre-headless maven)" >&2
    exit 3
  }
done

home=${XDG_CACHE_HOME:-$HOME/.cache}/deltaic/reference/$profile
stamp="spark $spark delta $delta readers 2"
if [ "$(cat "$home/stamp" 2>/dev/null || true)" != "$stamp" ]; then
  echo "fetching Spark $spark and Delta $delta into $home" >&2
  rm -rf "$home"
  mkdir -p "$home/jars"
  python3 -m venv "$home/venv"
  "$home/venv/bin/pip" install --quiet --disable-pip-version-check "pyspark==$spark" pyarrow deltalake >&2
  cat > "$home/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>deltaic</groupId><artifactId>reference</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>io.delta</groupId><artifactId>$artifact</artifactId><version>$delta</version></dependency>
  </dependencies>
</project>
POM
  mvn --quiet --batch-mode -f "$home/pom.xml" dependency:copy-dependencies -DincludeGroupIds=io.delta,io.unitycatalog \
    -DincludeScope=runtime -DoutputDirectory="$home/jars" >&2
  echo "$stamp" > "$home/stamp"
fi
echo "$home/venv/bin/python"
printf '%s\n' "$home"/jars/*.jar | paste -sd, -
